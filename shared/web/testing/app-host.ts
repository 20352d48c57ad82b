import { AppBridge, type McpUiHostContext, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

/** What the test asks of this page, and what it hears from it. */
interface HostWindow {
  /** Given by the test: carries a tool call to its server. */
  callTool(params: object): Promise<object>;
  /** Given by the test: what the app said. */
  heard(name: string, params: object): void;
  /** Shows an app as a host does, in a sandboxed frame, by the official bridge. */
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
    host.heard("message", params);
    return {};
  };
  bridge.onsizechange = (params) => {
    host.heard("size", params);
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
