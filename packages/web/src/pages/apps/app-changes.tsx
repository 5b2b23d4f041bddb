import type { AppChange } from '../../api/resources.ts';
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
} as const;

/** The changes of an app since the approval, each with its day. */
export function AppChanges({
  changes,
  isActive,
}: {
  readonly changes: readonly AppChange[];
  readonly isActive: boolean;
}) {
  return (
    <Notice tone="warn" title={text('changedTitle')}>
      <ul>
        {changes.map((change) => (
          <li key={`${change.at} ${change.field} ${change.to}`}>
            <Change change={change} />
          </li>
        ))}
      </ul>
      {isActive ? <span>{text('changedAdvice')}</span> : null}
    </Notice>
  );
}

function Change({ change: { field, from, to, at } }: { readonly change: AppChange }) {
  const [part, aPart] = FIELDS[field as keyof typeof FIELDS];
  const Value = field.endsWith('Url') ? Address : Words;
  const day = <Day at={at} />;
  if (from !== null && to !== null) {
    const values = { day, part: text(part), from: <Value value={from} />, to: <Value value={to} /> };
    return <Rich id="changeOf" values={values} />;
  }
  const values = { day, part: text(aPart), value: <Value value={to ?? from ?? ''} /> };
  return <Rich id={from === null ? 'additionOf' : 'removalOf'} values={values} />;
}

function Words({ value }: { readonly value: string }) {
  return text('quoted', { words: value });
}

function Address({ value }: { readonly value: string }) {
  return <WebLink url={value}>{value}</WebLink>;
}
