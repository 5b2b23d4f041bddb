import { status } from '@grpc/grpc-js';
import type { RawOutcome } from './raw-grpc.ts';

/** How a call ended: `admitted`, `refused` with nothing but the refusal, or what else it showed. */
export type Verdict = string;

export function judgeGrpc({ code, text, fields, details, messages, isOpened }: RawOutcome): Verdict {
  if (code === status.INVALID_ARGUMENT || (code === status.OK && isOpened)) return 'admitted';
  const detail = details.toString('hex');
  const isBare =
    text === '' && messages === 0 && fields.every((name) => GRPC_FIELDS.includes(name)) && detail === REFUSAL;
  return code === status.PERMISSION_DENIED && isBare
    ? 'refused'
    : `${status[code]} ${text} ${fields} ${detail}`;
}

const GRPC_FIELDS = ['content-type', 'date', 'grpc-status-details-bin'];
/** google.rpc.Status: code 7, and an ErrorDetail of which only the reason is set. */
const REFUSAL_DETAIL = Buffer.from([0x08, 3]);
const REFUSAL = toStatus(REFUSAL_DETAIL).toString('hex');

function toStatus(detail: Buffer): Buffer {
  const url = Buffer.from('type.googleapis.com/phds.common.v1.ErrorDetail');
  const any = Buffer.concat([
    Buffer.from([0x0a, url.length]),
    url,
    Buffer.from([0x12, detail.length]),
    detail,
  ]);
  return Buffer.concat([Buffer.from([0x08, status.PERMISSION_DENIED, 0x1a, any.length]), any]);
}
