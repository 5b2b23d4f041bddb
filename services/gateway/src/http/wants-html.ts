import type { Request } from 'express';

/** Whether the client prefers HTML over JSON, as browsers do. Without a preference it gets JSON. */
export function wantsHtml(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}
