import { Router } from 'express';
import type { Gateway } from '../gateway.ts';
import { mount } from '../routing.ts';
import { endByProvider } from './back-channel.ts';
import { beginSignIn } from './begin.ts';
import { finishSignIn } from './callback.ts';
import { signOut } from './sign-out.ts';

/** Signing in and out at the OpenID provider. */
export function createSignInRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  mount(router, '/sign-in', { GET: (exchange) => beginSignIn(gateway, exchange) });
  mount(router, '/sign-in/callback', { GET: (exchange) => finishSignIn(gateway, exchange) });
  mount(router, '/sign-out', { POST: (exchange) => signOut(gateway, exchange) });
  mount(router, '/sign-out/back-channel', { POST: (exchange) => endByProvider(gateway, exchange) });
  return router;
}
