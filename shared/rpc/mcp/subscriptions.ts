import { z } from "zod";

const Listen = z.object({
  method: z.literal("subscriptions/listen"),
  params: z.object({ notifications: z.object({ resourceSubscriptions: z.array(z.string()) }) }),
});

/** Returns the URIs that a request of the stateless revision (2026-07-28) subscribes to; none for any other message. */
export const subscribedUris = (message: unknown): readonly string[] =>
  Listen.safeParse(message).data?.params.notifications.resourceSubscriptions ?? [];

/** The error message for a URI without a resource. */
export const unknownResource = (uri: string): string =>
  `Unknown resource: ${uri.slice(0, 200)}. See resources/list and resources/templates/list`;
