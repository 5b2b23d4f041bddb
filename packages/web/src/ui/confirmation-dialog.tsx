import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { text } from '../texts/frame.ts';
import { Button } from './button.tsx';
import style from './dialog.module.css';

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
  return (
    <ModalOverlay
      className={style['overlay'] ?? ''}
      isDismissable
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={style['dialog'] ?? ''}>
        <Dialog role="alertdialog" style={{ outline: 'none' }}>
          <div className={style['body']}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {children}
            <div className={style['buttons']}>
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
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
