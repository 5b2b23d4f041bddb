import type { AppChange } from '../../api/resources.ts';
import { formatList } from '../../ui/formats.ts';
import { text } from './texts.ts';

const PARTS = [
  ['partName', ['name']],
  ['partDescription', ['description']],
  ['partDeveloper', ['developerName']],
  ['changedLinks', ['homepageUrl', 'privacyPolicyUrl']],
] as const satisfies readonly (readonly [string, readonly AppChange['field'][]])[];

const KNOWN = PARTS.flatMap(([, fields]): readonly AppChange['field'][] => fields);

/** One sentence that lists the changed fields of an app. A field of a later version of the service has its own name. */
export function changesText(changes: readonly AppChange[]): string {
  const changed = new Set<AppChange['field']>(changes.map(({ field }) => field));
  const parts = PARTS.filter(([, fields]) => fields.some((field) => changed.has(field)));
  const others = [...changed].filter((field) => !KNOWN.includes(field));
  return text('changed', { fields: formatList([...parts.map(([id]) => text(id)), ...others]) });
}
