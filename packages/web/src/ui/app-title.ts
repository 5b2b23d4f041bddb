import type { NamedApp } from '../api/resources.ts';

/** What to call an app: the name that the person agreed to, with its present one when that is another; the id of one without a name. */
export function appTitle({ clientId, name, currentName }: NamedApp): string {
  if (name === '') return clientId;
  return currentName === undefined ? name : `${name} (now: ${currentName})`;
}
