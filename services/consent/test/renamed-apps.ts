import type { RegisteredApp, RunningService } from './running-service.ts';

/** Shared steps of tests with renamed apps, for one consent service. */
export function renamingAt(consent: () => RunningService) {
  return {
    rename: (app: RegisteredApp, name: string) => consent().ledger.putApp({ app: { ...app, name } }),
    /** Number and name of each kept version of the app's profile. */
    versionsOf: async ({ clientId }: RegisteredApp): Promise<[number, string][]> => {
      const { rows } = await consent().owner.query(
        "SELECT version, profile->>'name' AS name FROM app_profile WHERE client_id = $1 ORDER BY version",
        [clientId],
      );
      return rows.map(({ version, name }) => [version, name]);
    },
    grantOf: async (id: string, userId: string) =>
      (await consent().as(userId).listGrants({ grantId: id })).grants[0],
    approveOpened: async (id: string, userId: string) =>
      consent().asAuthorization.approve({ id, allRequested: true }, await consent().session(userId)),
  };
}
