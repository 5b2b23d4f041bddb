import { z } from 'zod';

/** Points a minute of each limit, by the name in answers and metrics. `docs/partners/limits.md` says what each counts. */
export const DEFAULT_LIMITS = {
  // Requests for data, by app and person.
  'app-user': 300,
  // By person: keeps one with many apps from using up the service. Unless it is set, three times `app-user`.
  'user-all-apps': 900,
  // By app.
  app: 6_000,
  // Requests under /oauth, by authenticated app.
  client: 6_000,
  'client-credentials': 60,
  'grant-lists': 300,
  // By app and address: everybody can call in the name of an app without a secret.
  'public-clients': 300,
  // By address: a request without a secret may name any app.
  'anonymous-authorizations': 60,
  // By step and address: beginning many sign-ins does not prevent finishing one.
  'sign-ins': 300,
  // Requests of a session, by person: reading lists cannot prevent a revocation.
  user: 600,
  'user-changes': 120,
  // Points of those that cost more, so that registrations and previews cannot prevent one either.
  'user-costly': 600,
  // Downloads of all of a person's data, by person; each reads everything twice.
  'own-data': 2,
  // Counted by credential, and by address.
  'failed-authentications': 60,
} as const;

export type LimitTable = Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>;

/** The cost of the dearest request that `user-costly` counts. */
const DEAREST = 30;

/** The whole table from limits that differ from the default, such as `app-user=600,sign-ins=1000`; of a repeated name, the last counts. */
export const limitTable = z
  .string()
  .default('')
  .transform((text, context): LimitTable => {
    const report = (message: string) => context.addIssue({ code: 'custom', message });
    const changed = new Map<string, number>();
    for (const entry of text.split(',').filter(Boolean)) {
      const [, name = '', points = ''] = /^\s*([a-z-]+)=([1-9]\d{0,9})\s*$/.exec(entry) ?? [];
      if (Object.hasOwn(DEFAULT_LIMITS, name)) changed.set(name, Number(points));
      else
        report(
          `must be limits like app-user=600,sign-ins=1000, of ${Object.keys(DEFAULT_LIMITS).join(', ')}`,
        );
    }
    const ofAllApps = 3 * (changed.get('app-user') ?? DEFAULT_LIMITS['app-user']);
    const table = { ...DEFAULT_LIMITS, 'user-all-apps': ofAllApps, ...Object.fromEntries(changed) };
    if (table['user-all-apps'] < table['app-user'])
      report(
        `user-all-apps must not be less than app-user (${table['app-user']}), which no app could use up then`,
      );
    if (table['user-costly'] < DEAREST) report(`user-costly must be at least ${DEAREST}`);
    return table;
  });
