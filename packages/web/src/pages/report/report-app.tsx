import { REPORT_REASONS, REPORT_TEXT_MAX, type ReportReason } from '@phds/catalog/wire-names';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { DialogTrigger } from 'react-aria-components';
import { isRefusal, Problem } from '../../api/problem.ts';
import type { Report } from '../../api/resources.ts';
import { text as frameText } from '../../texts/frame.ts';
import { Button } from '../../ui/button.tsx';
import { Soft } from '../../ui/card.tsx';
import { DialogContent, DialogWindow } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { RadioChoice } from '../../ui/radio-choice.tsx';
import { text } from './texts.ts';

const REASONS = {
  data_use: 'dataUse',
  impersonation: 'impersonation',
  not_deleted: 'notDeleted',
  other: 'otherReason',
} as const satisfies Record<ReportReason, string>;

/** The button that opens the form to report an app, and the confirmation of a report. `send` sends it. */
export function ReportApp({
  app,
  send,
}: {
  readonly app: string;
  readonly send: (report: Report) => Promise<unknown>;
}) {
  const [isOpen, setOpen] = useState(false);
  const [isSent, setSent] = useState(false);
  return (
    <div>
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button kind="quiet">{text('trigger')}</Button>
        <DialogWindow>
          <ReportForm
            app={app}
            send={send}
            onSent={() => {
              setOpen(false);
              setSent(true);
            }}
          />
        </DialogWindow>
      </DialogTrigger>
      <p role="status">{isSent && !isOpen ? text('sent', { app }) : null}</p>
    </div>
  );
}

function ReportForm({
  app,
  send,
  onSent,
}: {
  readonly app: string;
  readonly send: (report: Report) => Promise<unknown>;
  readonly onSent: () => void;
}) {
  const [reason, setReason] = useState<ReportReason | null>(null);
  const [details, setDetails] = useState('');
  const [wasChecked, setChecked] = useState(false);
  const report = useMutation({ mutationFn: send });
  const count = Array.from(details.trim()).length;
  const submit = () => {
    setChecked(true);
    if (reason === null || count > REPORT_TEXT_MAX || report.isPending) return;
    const words = details.trim();
    report.mutate({ reason, ...(words === '' ? {} : { text: words }) }, { onSuccess: onSent });
  };
  const buttons = (
    <>
      <Button slot="close">{frameText('cancel')}</Button>
      <Button kind="primary" isBusy={report.isPending} onPress={submit}>
        {report.isPending ? frameText('oneMoment') : text('send')}
      </Button>
    </>
  );
  return (
    <DialogContent title={text('title', { app })} buttons={buttons}>
      <Soft>{text('lead', { app })}</Soft>
      <RadioChoice
        label={text('reason')}
        choices={REPORT_REASONS.map((id) => ({ id, text: text(REASONS[id]) }))}
        value={reason ?? ''}
        onChange={(id) => setReason(id as ReportReason)}
        error={wasChecked && reason === null ? text('reasonMissing') : undefined}
      />
      <TextField
        label={text('details')}
        value={details}
        onChange={setDetails}
        multiline
        hint={text('detailsHint')}
        error={count > REPORT_TEXT_MAX ? text('detailsTooLong', { max: REPORT_TEXT_MAX, count }) : undefined}
      />
      {report.error === null ? null : <NotSent error={report.error} />}
    </DialogContent>
  );
}

function NotSent({ error }: { readonly error: unknown }) {
  if (error instanceof Problem && error.status === 429) {
    return (
      <div role="alert">
        <Notice tone="bad">
          <strong>{text('notSent')}</strong>
          <span>{text('tooMany')}</span>
        </Notice>
      </div>
    );
  }
  return <ErrorNotice error={error} title={text(isRefusal(error) ? 'notSent' : 'sendUnknown')} />;
}
