import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  ConnectionSchema,
  ConnectionTermsSchema,
  NoticeSchema,
} from '@phds/contracts/phds/events/v1/notice_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { GrantTerms } from '../domain/grant.ts';
import type { Connection, Notice, NoticeContent } from '../domain/notice.ts';

type NoticeMessage = MessageInitShape<typeof NoticeSchema>;

export function toNoticeMessage({ id, number, at, userId, content }: Notice): NoticeMessage {
  return { id, cursor: toCursor(number), at: timestampFromDate(at), userId, kind: toKind(content) };
}

/** The place of a notice; of the start of the feed if it is empty. */
export function toCursor(number: number): string {
  return number === 0 ? '' : String(number);
}

/** The number of a cursor that this service gave. */
export function parseCursor(parameter: string, cursor: string): number {
  if (cursor === '') return 0;
  const number = /^\d{1,16}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw invalidRequest(parameter, 'must be a cursor of this feed');
  return number;
}

function toKind(content: NoticeContent): NonNullable<NoticeMessage['kind']> {
  switch (content.kind) {
    case 'connection_began':
      return { case: 'connectionBegan', value: { connection: toConnectionMessage(content.connection) } };
    case 'connection_changed': {
      const { connection, before } = content;
      const value = { connection: toConnectionMessage(connection), before: toTermsMessage(before) };
      return { case: 'connectionChanged', value };
    }
    case 'connection_ending':
      return { case: 'connectionEnding', value: { connection: toConnectionMessage(content.connection) } };
    case 'unusual_reading': {
      const { connection, day, reads, usualReadsPerDay } = content;
      const value = { connection: toConnectionMessage(connection), day, reads, usualReadsPerDay };
      return { case: 'unusualReading', value };
    }
    case 'app_reported': {
      const { reportId, clientId, appName, redirectHost, grantId, reason, text } = content;
      const value = { reportId, clientId, appName, redirectHost, grantId: grantId ?? '', reason, text };
      return { case: 'appReported', value };
    }
  }
}

function toConnectionMessage(connection: Connection): MessageInitShape<typeof ConnectionSchema> {
  const { grantId, clientId, appName, terms } = connection;
  return { grantId, clientId, appName, terms: toTermsMessage(terms) };
}

function toTermsMessage(terms: GrantTerms): MessageInitShape<typeof ConnectionTermsSchema> {
  const { scopes, expiresAt, dataFrom } = terms;
  return { scopes: [...scopes], expiresAt: timestampFromDate(expiresAt), dataFrom: dataFrom ?? '' };
}
