import type { AppChange } from '../../api/resources.ts';
import { Notice } from '../../ui/notice.tsx';
import { Day } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';
import { Rich, text } from './texts.ts';

const TEXTS = {
  name: 'changeOfName',
  description: 'changeOfDescription',
  developerName: 'changeOfDeveloperName',
  homepageUrl: 'changeOfHomepageUrl',
  privacyPolicyUrl: 'changeOfPrivacyPolicyUrl',
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
    <Notice tone="warn">
      <strong>{text('changedTitle')}</strong>
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
  const Value = field.endsWith('Url') ? Address : Words;
  return (
    <Rich
      id={TEXTS[field as keyof typeof TEXTS]}
      values={{ day: <Day at={at} />, from: <Value value={from} />, to: <Value value={to} /> }}
    />
  );
}

function Words({ value }: { readonly value: string | null }) {
  return value === null ? text('none') : text('quoted', { words: value });
}

function Address({ value }: { readonly value: string | null }) {
  return value === null ? text('none') : <WebLink url={value}>{value}</WebLink>;
}
