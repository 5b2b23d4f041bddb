import { lazy, Suspense } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Loading, Notice } from '../../ui/notice.tsx';
import style from './preview-sheet.module.css';
import { text } from './texts.ts';

const ScopePreview = lazy(async () => {
  try {
    return { default: (await import('../data/scope-preview.tsx')).ScopePreview };
  } catch {
    // The choices on the page stay.
    return { default: NotLoaded };
  }
});

/** An open sheet with the person's own data of a scope. */
export function PreviewDialog({
  scope,
  title,
  onClose,
}: {
  readonly scope: string;
  readonly title: string;
  readonly onClose: () => void;
}) {
  return (
    <ModalOverlay
      className={`${dialog['overlay']} ${style['overlay']}`}
      isDismissable
      isOpen
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={`${dialog['dialog']} ${style['sheet']}`}>
        <Dialog style={{ outline: 'none' }}>
          <div className={dialog['body']}>
            <Heading slot="title" level={2}>
              {text('previewTitle', { title })}
            </Heading>
            <Suspense fallback={<Loading />}>
              <ScopePreview scope={scope} />
            </Suspense>
            <div className={dialog['buttons']}>
              <Button slot="close" autoFocus>
                {text('close')}
              </Button>
            </div>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function NotLoaded() {
  return (
    <Notice tone="bad">
      <strong>{text('previewFailed')}</strong>
    </Notice>
  );
}
