import type { ProfileField } from '@phds/catalog/app-profile';
import type { AppChange, Grant } from '../../api/resources.ts';
import { formatList } from '../../ui/formats.ts';
import { Notice } from '../../ui/notice.tsx';
import { Day } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { Rich, text } from './texts.ts';

const FIELDS = {
  name: ['partName', 'partName'],
  description: ['partDescription', 'aDescription'],
  developerName: ['partDeveloper', 'partDeveloper'],
  homepageUrl: ['partWebsite', 'aWebsite'],
  privacyPolicyUrl: ['partPrivacy', 'aPrivacy'],
} as const satisfies Readonly<Record<ProfileField, unknown>>;

/** The changes of an app since the approval, each with its day; nothing without any. */
export function AppChanges({ grant: { appChanges, status } }: { readonly grant: Grant }) {
  if (appChanges === undefined) return null;
  return (
    <Notice tone="warn" title={text('changedTitle')}>
      <ul>
        {appChanges.map((change) => (
          <li key={`${change.at} ${change.field} ${change.to}`}>
            <Change change={change} />
          </li>
        ))}
      </ul>
      {status === 'active' ? <span>{text('changedAdvice')}</span> : null}
    </Notice>
  );
}

function Change({ change: { field, from, to, at } }: { readonly change: AppChange }) {
  const [part, aPart] = namesOf(field);
  const Value = field.endsWith('Url') ? Address : Words;
  const day = <Day at={at} />;
  if (from !== null && to !== null) {
    const values = { day, part, from: <Value value={from} />, to: <Value value={to} /> };
    return <Rich id="changeOf" values={values} />;
  }
  const values = { day, part: aPart, value: <Value value={to ?? from ?? ''} /> };
  return <Rich id={from === null ? 'additionOf' : 'removalOf'} values={values} />;
}

/** One sentence that lists the changed fields of an app. */
export function changesText(changes: readonly AppChange[]): string {
  const parts = new Set(changes.map(({ field }) => namesOf(field)[0]));
  return text('changed', { fields: formatList([...parts]) });
}

/** A field of a later version of the service has its own name. */
function namesOf(field: string): readonly [string, string] {
  if (!Object.hasOwn(FIELDS, field)) return [field, field];
  const [part, aPart] = FIELDS[field as ProfileField];
  return [text(part), text(aPart)];
}

function Words({ value }: { readonly value: string }) {
  return text('quoted', { words: value });
}

function Address({ value }: { readonly value: string }) {
  return <WebLink url={value}>{value}</WebLink>;
}
