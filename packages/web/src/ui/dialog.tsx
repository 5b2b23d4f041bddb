import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import style from './dialog.module.css';

/** The window of a dialog: dims the page and holds the content. */
export function DialogWindow({
  isOpen,
  onOpenChange,
  isDismissable = false,
  overlay = '',
  dialog = '',
  children,
}: {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  /** Whether a press beside the dialog closes it. */
  readonly isDismissable?: boolean;
  /** A class that changes the overlay. */
  readonly overlay?: string | undefined;
  /** A class that changes the dialog. */
  readonly dialog?: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <ModalOverlay
      className={`${style['overlay']} ${overlay}`}
      isDismissable={isDismissable}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
    >
      <Modal className={`${style['dialog']} ${dialog}`}>{children}</Modal>
    </ModalOverlay>
  );
}

/** What a dialog says, and its buttons. An `alertdialog` demands an answer. */
export function DialogContent({
  title,
  close = null,
  buttons = null,
  role = 'dialog',
  children,
}: {
  readonly title: string;
  /** A button beside the title, for a content that may be taller than the screen. */
  readonly close?: ReactNode;
  readonly buttons?: ReactNode;
  readonly role?: 'dialog' | 'alertdialog';
  readonly children: ReactNode;
}) {
  return (
    <Dialog role={role} style={{ outline: 'none' }}>
      <div className={style['body']}>
        <div className={style['title']}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {close}
        </div>
        {children}
        {buttons === null ? null : <div className={style['buttons']}>{buttons}</div>}
      </div>
    </Dialog>
  );
}
