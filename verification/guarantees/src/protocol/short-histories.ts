import { type Action, type ActionOf, HEART, type History } from './history.ts';

// Actions of the histories that each show one mistake, on the newest of everything.

export const which = 0;
export const request: ActionOf<'request'> = {
  do: 'request',
  which,
  scope: HEART,
  remembered: true,
  stop: null,
};
export const requestAll: ActionOf<'request-all'> = { do: 'request-all', stop: null };
/** After it, health-data knows the assertions of the path on which batches are stopped, so the next batch is not divided. */
export const verifyAssertions: Action = { ...requestAll, stop: { at: 'admitted', steps: 0 } };
export const revokeGrant: Action = { do: 'revoke-grant', which };
export const revokeToken: Action = { do: 'revoke-token', which };
export const revokeFamily: Action = { do: 'revoke-family', which };
/** Its token lacks the other scope. */
export const approveSecond: Action = {
  do: 'approve',
  app: 'second',
  asked: [HEART],
  approved: [HEART],
  dataFrom: '',
};

export const wait = (ms: number): Action => ({ do: 'wait', ms });
export const history = (...actions: Action[]): History => actions.map((action) => ({ action }));
