import type { UseQueryResult } from '@tanstack/react-query';
import { Component, type ReactNode } from 'react';
import { type Labels, Problem } from '../api/problem.ts';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import { Stack } from './card.tsx';
import { PageHeading } from './layout.tsx';
import { ErrorNotice, Loading, Notice, SignedOut } from './notice.tsx';

/** What a resource needs of a query. */
type Read<Data> = Pick<UseQueryResult<Data>, 'data' | 'error'> & { readonly refetch: () => unknown };

/** Several queries as one, so that the page does not move when one is answered after another. Its data are there when all are. */
export function together<const Data extends readonly unknown[]>(
  queries: {
    readonly [Index in keyof Data]: Read<Data[Index]>;
  },
): Read<Data> {
  const all: readonly Read<unknown>[] = queries;
  const isRead = all.every(({ data }) => data !== undefined);
  return {
    data: isRead ? (all.map(({ data }) => data) as unknown as Data) : undefined,
    error: all.find(({ data, error }) => data === undefined && error !== null)?.error ?? null,
    refetch: () => Promise.all(all.map(({ refetch }) => refetch())),
  };
}

/** Renders a query's data once available; before that, its loading state or error. */
export function Resource<T>({
  query,
  children,
  isPage = false,
  notFound,
  whySignIn = text('whySignIn'),
  labels,
}: {
  readonly query: Read<T>;
  readonly children: (data: T) => ReactNode;
  /** Whether the heading of the page is in `children`. */
  readonly isPage?: boolean;
  /** Shown instead of a 404. */
  readonly notFound?: ReactNode;
  /** Shown to a person who is signed out. */
  readonly whySignIn?: string;
  readonly labels?: Labels;
}) {
  const { status } = query.error instanceof Problem ? query.error : { status: 0 };
  // Also after the session has ended: what the person entered stays, and the dialog asks them to sign in.
  if (query.data !== undefined) return children(query.data);
  if (status === 401) return <SignedOut why={whySignIn} />;
  if (query.error === null) return <Loading />;
  if (status === 404 && notFound !== undefined) return notFound;
  return (
    <Stack>
      {isPage ? <PageHeading title={text('pageFailed')} /> : null}
      <ErrorNotice error={query.error} title={isPage ? undefined : text('loadFailed')} labels={labels} />
      <div>
        <Button onPress={() => query.refetch()}>{text('tryAgain')}</Button>
      </div>
    </Stack>
  );
}

/** Shown when a page throws, or when its script no longer exists on the server; offers to reload. */
export class FailureBoundary extends Component<{ readonly children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? <Failed /> : this.props.children;
  }
}

function Failed() {
  return (
    <>
      <PageHeading title={text('pageFailed')} />
      <Stack>
        <Notice role="alert" tone="bad" title={text('pageFailedTitle')}>
          {text('pageFailedAdvice')}
        </Notice>
        <div>
          <Button kind="primary" onPress={() => location.reload()}>
            {text('reload')}
          </Button>
        </div>
      </Stack>
    </>
  );
}
