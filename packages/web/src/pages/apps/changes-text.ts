import type { AppChange } from '../../api/resources.ts';
import { formatList } from '../../ui/formats.ts';

/** One sentence that lists the changed fields of an app. */
export function changesText(changes: readonly AppChange[]): string {
  const fields = new Set(changes.map(({ field }) => field));
  const parts = [
    ...(fields.has('name') ? ['its name'] : []),
    ...(fields.has('description') ? ['its description'] : []),
    ...(fields.has('developerName') ? ['the name of its developer'] : []),
    ...(fields.has('homepageUrl') || fields.has('privacyPolicyUrl') ? ['its links'] : []),
    ...(fields.has('logoUrl') ? ['its logo'] : []),
  ];
  return `This app has changed ${formatList(parts)} since you agreed.`;
}
