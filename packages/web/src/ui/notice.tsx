import type { ReactNode } from 'react';
import { Problem } from '../api/problem.ts';
import { signInUrl } from '../api/session.ts';
import { ButtonAnchor } from './button.tsx';
import style from './notice.module.css';
import { useTitle } from './title.ts';

/** An important message. */
export function Notice({
  tone = 'plain',
  children,
}: {
  readonly tone?: 'plain' | 'warn' | 'bad';
  readonly children: ReactNode;
}) {
  return (
    <div className={tone === 'plain' ? style['notice'] : `${style['notice']} ${style[tone]}`}>{children}</div>
  );
}

/** Display names of parameters. */
const FIELDS: Readonly<Record<string, string>> = {
  dataFrom: 'The first day',
  expiresAt: 'The end',
  from: '“From”',
  to: '“To”',
};

/** Explains an error by its cause; announced by screen readers. */
export function ErrorNotice({
  error,
  title,
  isOwn = true,
}: {
  readonly error: unknown;
  readonly title: string;
  /** Whether the request used the person's session rather than an app's credentials. */
  readonly isOwn?: boolean;
}) {
  const { violations, message, status } =
    error instanceof Problem
      ? error
      : new Problem('INTERNAL_ERROR', 0, 'These pages met an error of their own.');
  return (
    <div role="alert">
      <Notice tone="bad">
        <strong>{title}</strong>
        {violations.length === 0 ? (
          <span>{message}</span>
        ) : (
          <ul>
            {violations.map((violation, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: one parameter may have several faults, which never move.
              <li key={index}>
                {FIELDS[violation.parameter] ?? violation.parameter} {violation.message}
              </li>
            ))}
          </ul>
        )}
        {isOwn && status === 401 ? <a href={signInUrl()}>Sign in again</a> : null}
      </Notice>
    </div>
  );
}

/** Explains an empty section, and what to do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={style['empty']}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The same for a whole page. */
export function EmptyPage({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  useTitle(title);
  return (
    <div className={style['empty']}>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </div>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className={style['loading']} role="status">
      Loading {what}…
    </p>
  );
}

/** Shown to signed-out people instead of a page. */
export function SignedOut({ why }: { readonly why: string }) {
  return (
    <EmptyPage title="Please sign in">
      <p>{why}</p>
      <ButtonAnchor kind="primary" href={signInUrl()}>
        Sign in
      </ButtonAnchor>
    </EmptyPage>
  );
}
