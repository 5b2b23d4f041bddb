import type { AppChange } from '../../api/resources.ts';

const partsFormat = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** One sentence that lists the changed fields of an app. */
export function changesText(changes: readonly AppChange[]): string {
  const fields = new Set(changes.map(({ field }) => field));
  const parts = [
    ...(fields.has('name') ? ['its name'] : []),
    ...(fields.has('homepageUrl') || fields.has('privacyPolicyUrl') ? ['its links'] : []),
    ...(fields.has('logoUrl') ? ['its logo'] : []),
  ];
  return `This app has changed ${partsFormat.format(parts)} since you agreed.`;
}
