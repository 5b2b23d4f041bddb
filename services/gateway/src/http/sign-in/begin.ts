import { randomBytes } from 'node:crypto';
import { toReturnPath } from '../../domain/return-path.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { splitUrl } from '../query.ts';
import { redirect } from '../respond.ts';
import { answerFailure } from './failure.ts';
import { limitSignIns } from './limit.ts';
import { sendNotSetUp } from './pages.ts';
import { sendBack } from './send-back.ts';
import { toSignInRequest } from './sign-in-request.ts';

/**
 * `GET /sign-in?return_to=/own/path[&silent=1][&step_up=1][&switch=1]`: sends the browser to the provider. With `silent`, the provider
 * must not ask anything; with `step_up`, the person must confirm who they are as the step-up settings say; with `switch`, the person
 * chooses an account.
 */
export async function beginSignIn(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  if (!(await limitSignIns(gateway, exchange, 'begin'))) return;
  const attempt = newAttempt(splitUrl(request.originalUrl).rawQuery);
  const { signIn, config } = gateway;
  if (signIn === null) return attempt.silent ? sendBack(config, response, attempt) : sendNotSetUp(exchange);
  try {
    const location = await signIn.provider.findAuthorizationUrl(toSignInRequest(config, attempt));
    response.setHeader('Set-Cookie', await signIn.attempts.keep(request, attempt));
    redirect(response, location);
  } catch (error) {
    answerFailure(gateway, exchange, attempt, error);
  }
}

function newAttempt(rawQuery: string): SignInAttempt {
  const parameters = new URLSearchParams(rawQuery);
  return {
    state: newRandom(),
    nonce: newRandom(),
    codeVerifier: newRandom(),
    returnTo: toReturnPath(parameters.get('return_to')),
    silent: parameters.get('silent') === '1',
    stepUp: parameters.get('step_up') === '1',
    switchAccount: parameters.get('switch') === '1',
  };
}

/** 256 bits, the length that RFC 7636 (4.1) recommends for a code verifier. */
function newRandom(): string {
  return randomBytes(32).toString('base64url');
}
