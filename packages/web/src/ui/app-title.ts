import type { NamedApp } from '../api/resources.ts';
import { text } from '../texts/frame.ts';
import { isolated } from '../texts/isolated.ts';

/** An app, and the domain of its redirect URI if that is known. */
export interface NamedAppAt extends NamedApp {
  readonly redirectHost?: string | null;
}

/** The title of an app: the approved name, with the current one if it differs; the id if it has no name. */
export function appTitle({ clientId, name, currentName }: NamedApp): string {
  if (name === '') return clientId;
  return currentName === undefined ? isolated(name) : text('appNowCalled', { name, currentName });
}

/**
 * The domain that tells an app from others of the same title, because developers choose names. Null when it is unknown, or when one of
 * the others has it too.
 */
export function findTellingDomain(app: NamedAppAt, others: Iterable<NamedAppAt>): string | null {
  const host = app.redirectHost || null;
  for (const other of others) {
    const isAlike = other.clientId !== app.clientId && appTitle(other) === appTitle(app);
    if (isAlike && other.redirectHost === host) return null;
  }
  return host;
}
