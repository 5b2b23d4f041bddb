import type { ReactNode } from 'react';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import { DialogContent, DialogWindow } from './dialog.tsx';

export interface ConfirmationDialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Text of the confirming button. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** An open dialog that names the consequences of something irreversible. */
export function ConfirmationDialog({
  title,
  children,
  confirm,
  onConfirm,
  onClose,
}: ConfirmationDialogProps) {
  const buttons = (
    <>
      <Button slot="close" autoFocus>
        {text('cancel')}
      </Button>
      <Button
        kind="danger"
        onPress={() => {
          onClose();
          onConfirm();
        }}
      >
        {confirm}
      </Button>
    </>
  );
  return (
    <DialogWindow
      isDismissable
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <DialogContent role="alertdialog" title={title} buttons={buttons}>
        {children}
      </DialogContent>
    </DialogWindow>
  );
}
