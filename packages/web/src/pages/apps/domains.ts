import type { Grant } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';

type App = Grant['app'];

/**
 * What tells an app from others: the host that it gets its answers at, because developers choose names. If another of the shown apps
 * has the same title and host, or the host is unknown, the id.
 */
export function findDomain(app: App, shown: readonly App[]): string {
  const host = app.redirectHost ?? '';
  const isShared = shown.some(
    (other) =>
      other.clientId !== app.clientId &&
      appTitle(other) === appTitle(app) &&
      (other.redirectHost ?? '') === host,
  );
  if (host === '') return app.clientId;
  return isShared ? `${host} · ${app.clientId}` : host;
}
