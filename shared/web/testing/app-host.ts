import { AppBridge, type McpUiHostContext, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

/** The interface between the test and this page. */
interface HostWindow {
  /** Provided by the test: forwards a tool call to its server. */
  callTool(params: object): Promise<object>;
  /** Provided by the test: receives the messages of the app. */
  onAppMessage(name: string, params: object): void;
  /** Shows an app as a host does, in a sandboxed frame with the official bridge. */
  showApp(html: string, hostContext: McpUiHostContext, toolResult: object): Promise<void>;
  bridge: AppBridge;
}

const host = window as unknown as HostWindow;

host.showApp = async (html, hostContext, toolResult) => {
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  frame.style.cssText = "width: 100%; height: 700px; border: 0";
  document.body.append(frame);
  const capabilities = { serverTools: {}, message: { text: {} } };
  const bridge = new AppBridge(null, { name: "test host", version: "1.0.0" }, capabilities, { hostContext });
  host.bridge = bridge;
  bridge.oncalltool = async (params) => (await host.callTool(params)) as never;
  bridge.onmessage = async (params) => {
    host.onAppMessage("message", params);
    return {};
  };
  bridge.onsizechange = (params) => {
    host.onAppMessage("size", params);
    if (params.height) frame.style.height = `${params.height}px`;
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  bridge.oninitialized = () => resolve();
  const view = frame.contentWindow as Window;
  await bridge.connect(new PostMessageTransport(view, view));
  frame.srcdoc = html;
  await promise;
  await bridge.sendToolInput({ arguments: { template: "chess.v1" } });
  await bridge.sendToolResult(toolResult as never);
};
