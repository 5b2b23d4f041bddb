import type { Request } from 'express';

/** Whether a browser asks for a page rather than a program for data; who does not care gets data. */
export function wantsHtml(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}
