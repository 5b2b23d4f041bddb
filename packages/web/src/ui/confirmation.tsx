import { type ReactNode, useState } from 'react';
import { text } from '../texts/frame.ts';
import { Button, type ButtonKind } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** A button that asks for confirmation, with the consequences, before it does something irreversible. */
export function Confirmation({
  trigger,
  triggerKind = 'danger',
  title,
  children,
  confirm,
  onConfirm,
  isBusy = false,
}: {
  readonly trigger: string;
  readonly triggerKind?: ButtonKind;
  readonly title: string;
  readonly children: ReactNode;
  readonly confirm: string;
  readonly onConfirm: () => void;
  /** Whether the confirmed action, or one that it has to wait for, is running. */
  readonly isBusy?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const buttons = (
    <>
      <Button autoFocus onPress={close}>
        {text('cancel')}
      </Button>
      <Button
        kind="danger"
        onPress={() => {
          close();
          onConfirm();
        }}
      >
        {confirm}
      </Button>
    </>
  );
  return (
    <>
      <Button kind={triggerKind} isBusy={isBusy} onPress={() => setOpen(true)}>
        {isBusy ? text('oneMoment') : trigger}
      </Button>
      {isOpen ? (
        <Dialog role="alertdialog" title={title} buttons={buttons} onClose={close}>
          {children}
        </Dialog>
      ) : null}
    </>
  );
}
