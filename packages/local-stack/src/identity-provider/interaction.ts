import express, { Router } from 'express';
import type { InteractionResults, Provider } from 'oidc-provider';
import { requireSameOrigin } from './loopback.ts';
import { ACR_VALUES, isAcr } from './openid-provider.ts';
import { renderSignInPage } from './pages.ts';
import { rememberUser, type UserDirectory } from './user-directory.ts';

/** The page of a sign-in in progress, at which people pick who they are, and the form that it sends. */
export function createInteraction(provider: Provider, users: UserDirectory): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false });
  router.get('/interaction/:uid', async (request, response) => {
    const { session, uid } = await provider.interactionDetails(request, response);
    const signedInAs = session?.accountId ?? null;
    response.send(renderSignInPage({ users: users.list(), signedInAs, action: `/interaction/${uid}` }));
  });
  router.post('/interaction/:uid', requireSameOrigin, form, async (request, response) => {
    const { params } = await provider.interactionDetails(request, response);
    const { user, cancel } = request.body ?? {};
    const result: InteractionResults =
      cancel === undefined
        ? {
            login: { accountId: await rememberUser(users, user), acr: chooseAcr(params['acr_values']) },
            // Answers both prompts at once: the page is the same.
            select_account: {},
          }
        : { error: 'access_denied', error_description: 'the person cancelled the sign-in' };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return router;
}

/** The first of the requested values that the provider has. */
function chooseAcr(requested: unknown): string {
  return (
    String(requested ?? '')
      .split(' ')
      .find(isAcr) ?? ACR_VALUES[0]
  );
}
