import type { NextFunction, Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { BadRequest } from './bad-request.ts';
import { renderErrorPage } from './pages.ts';

/** Sends the error as a page to browsers and as JSON to other clients. */
export function refuse(response: Response, status: number, message: string): void {
  response.status(status);
  response.format({
    json: () => void response.json({ error: message }),
    html: () => void response.send(renderErrorPage(message)),
  });
}

export function answerError(
  error: Error & { status?: number },
  request: Request,
  response: Response,
  next: NextFunction,
) {
  if (response.headersSent) return next(error);
  if (error instanceof BadRequest) return refuse(response, 400, error.message);
  if (error instanceof errors.SessionNotFound)
    return refuse(response, 400, 'This sign-in is over, or it was started in another browser. Start again.');
  const isClientError = error.status !== undefined && error.status < 500;
  if (isClientError)
    return refuse(response, error.status ?? 400, 'The body cannot be read as JSON or as a form.');
  console.error(`${request.method} ${request.path}: ${error.stack}`);
  return refuse(response, 500, 'Something went wrong; see the log.');
}
