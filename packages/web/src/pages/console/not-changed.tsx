import { useEffect } from 'react';
import { isRefusal, type Labels } from '../../api/problem.ts';
import { focusInvalidField } from '../../ui/focus.ts';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { text } from './texts.ts';

type Id = Parameters<typeof text>[0];

/** Why something was not done; or, without an answer, that it may have been done. The field that is wrong gets the focus. */
export function NotChanged({
  error,
  undone = 'notChanged',
  unknown = 'changeUnknown',
  labels,
}: {
  readonly error: unknown;
  readonly undone?: Id;
  readonly unknown?: Id;
  readonly labels?: Labels;
}) {
  useEffect(() => {
    if (error !== null) focusInvalidField();
  }, [error]);
  if (error === null) return null;
  if (unknown === 'registrationUnknown' && !isRefusal(error)) {
    // The cause may advise to try again, which would register a second app.
    return <Notice role="alert" tone="bad" title={text(unknown)} />;
  }
  return <ErrorNotice error={error} title={text(isRefusal(error) ? undone : unknown)} labels={labels} />;
}
