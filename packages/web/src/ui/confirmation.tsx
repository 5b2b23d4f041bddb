import { type ReactNode, useState } from 'react';
import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { text } from '../texts/frame.ts';
import { Button, type ButtonKind } from './button.tsx';
import style from './dialog.module.css';

/** A button that asks for confirmation, with the consequences, before it does something irreversible. */
export function Confirmation({
  trigger,
  triggerKind = 'danger',
  title,
  children,
  confirm,
  onConfirm,
  isBusy = false,
  isBlocked = false,
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
  /** Whether another action has to finish first. */
  readonly isBlocked?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={(open) => setOpen(open && !isBusy && !isBlocked)}>
      <Button kind={triggerKind} isBusy={isBusy || isBlocked}>
        {isBusy ? text('oneMoment') : trigger}
      </Button>
      <ModalOverlay className={style['overlay'] ?? ''} isDismissable>
        <Modal className={style['dialog'] ?? ''}>
          <Dialog role="alertdialog" style={{ outline: 'none' }}>
            {({ close }) => (
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
                      close();
                      onConfirm();
                    }}
                  >
                    {confirm}
                  </Button>
                </div>
              </div>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
