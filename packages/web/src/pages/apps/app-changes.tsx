import type { AppChange } from '../../api/resources.ts';
import { Notice } from '../../ui/notice.tsx';
import { Day } from '../../ui/time.tsx';
import { WebLink } from '../../ui/web-link.tsx';

const TEXTS = {
  name: 'its name',
  description: 'its description',
  developerName: 'the name of its developer',
} as const;

const LINKS = {
  homepageUrl: 'the link to its website',
  privacyPolicyUrl: 'the link to its privacy policy',
  logoUrl: 'its logo',
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
      <strong>This app has changed since you agreed.</strong>
      <ul>
        {changes.map((change) => (
          <li key={`${change.at} ${change.field} ${change.to}`}>
            <Change change={change} />
          </li>
        ))}
      </ul>
      {isActive ? (
        <span>What you share stays the same. If you no longer trust the app, stop sharing.</span>
      ) : null}
    </Notice>
  );
}

function Change({ change: { field, from, to, at } }: { readonly change: AppChange }) {
  if (field === 'name' || field === 'description' || field === 'developerName') {
    return (
      <>
        It changed {TEXTS[field]} on <Day at={at} /> from {quote(from)} to {quote(to)}.
      </>
    );
  }
  return (
    <>
      It changed {LINKS[field]} on <Day at={at} /> from <Address url={from} /> to <Address url={to} />.
    </>
  );
}

function quote(text: string | null): string {
  return text === null ? 'none' : `“${text}”`;
}

function Address({ url }: { readonly url: string | null }) {
  return url === null ? 'none' : <WebLink url={url}>{url}</WebLink>;
}
