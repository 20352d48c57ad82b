/** Whether the page is in a frame of a chat, which is low and narrow, so that it has fewer buttons. */
export const isFramed = (): boolean => window.parent !== window;
