import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { text } from '../texts/frame.ts';
import { Button, type ButtonKind } from './button.tsx';
import type { ConfirmationDialogProps } from './confirmation-dialog.tsx';
import { lazyPart } from './lazy-part.ts';

const ConfirmationDialog = lazyPart<ConfirmationDialogProps>(
  async () => (await import('./confirmation-dialog.tsx')).ConfirmationDialog,
  BrowserDialog,
);

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
  /** Text of the confirming button. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  /** Whether the confirmed action is running. */
  readonly isBusy?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={triggerKind} isBusy={isBusy} onPress={() => setOpen(true)}>
        {isBusy ? text('oneMoment') : trigger}
      </Button>
      {isOpen ? (
        // Loaded with the sign-in dialog, after the page, or now.
        <Suspense fallback={null}>
          <ConfirmationDialog
            title={title}
            confirm={confirm}
            onConfirm={onConfirm}
            onClose={() => setOpen(false)}
          >
            {children}
          </ConfirmationDialog>
        </Suspense>
      ) : null}
    </>
  );
}

/** In place of the dialog. */
function BrowserDialog({ title, onConfirm, onClose }: ConfirmationDialogProps) {
  useEffect(() => {
    const isConfirmed = window.confirm(title);
    onClose();
    if (isConfirmed) onConfirm();
  }, [title, onConfirm, onClose]);
  return null;
}
