import type { NamedApp } from '../api/resources.ts';
import { text } from '../texts/frame.ts';

/** The title of an app: the approved name, with the current one if it differs; the id if it has no name. */
export function appTitle({ clientId, name, currentName }: NamedApp): string {
  if (name === '') return clientId;
  return currentName === undefined ? name : text('appNowCalled', { name, currentName });
}
