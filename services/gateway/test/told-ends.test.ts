import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  CheckSessionResponseSchema,
  EndSessionsResponseSchema,
} from '@phds/contracts/phds/consent/v1/sessions_pb';
import { sha256 } from '@phds/service-kit/secrets';
import { createEndedSessions } from '../src/clients/ended-sessions.ts';

describe('consent is told', () => {
  const NOW = new Date('2026-03-01T12:00:00Z');
  const facts = {
    userId: 'ada',
    name: null,
    authTime: null,
    acr: null,
    claims: {},
    expiresAt: new Date('2026-03-01T13:00:00Z'),
  };
  const session = { ...facts, subject: 'sub-1', sid: 'sid-1', issuedAt: new Date('2026-03-01T11:00:00Z') };
  const JWT = 'header.payload.signature';
  const told: object[] = [];
  const sessions = createEndedSessions({
    checkSession: async (request) => {
      told.push(request);
      return create(CheckSessionResponseSchema, { ended: true });
    },
    endSessions: async (request) => {
      told.push(request);
      return create(EndSessionsResponseSchema);
    },
  });
  const tokenHash = sha256('header.payload');
  const at = timestampFromDate;

  beforeEach(() => {
    told.length = 0;
  });

  test('the names of a session that is checked', async () => {
    expect(await sessions.isEnded(session, JWT)).toBe(true);
    await sessions.isEnded({ ...session, sid: null }, JWT);
    const { subject } = session;
    const issuedAt = at(session.issuedAt);
    expect(told).toEqual([
      { tokenHash, sid: 'sid-1', subject, issuedAt },
      { tokenHash, sid: '', subject, issuedAt },
    ]);
  });

  test('the token and the sid of a sign-out, so that no other session of the person ends', async () => {
    await sessions.end(session, JWT, NOW);
    await sessions.end({ ...session, sid: null }, JWT, NOW);
    expect(told).toEqual([
      { tokenHash, sid: 'sid-1', endedAt: at(NOW) },
      { tokenHash, sid: '', endedAt: at(NOW) },
    ]);
  });

  test('a time of a sign-out that covers the session even if the clock of the provider is ahead', async () => {
    const issuedAt = new Date(NOW.getTime() + 30_000);
    await sessions.end({ ...session, issuedAt }, JWT, NOW);
    expect(told).toEqual([{ tokenHash, sid: 'sid-1', endedAt: at(issuedAt) }]);
  });

  test('the sid, the subject and the time of a logout at the provider', async () => {
    await sessions.endByLogout({ sid: 'sid-1', subject: 'sub-1', issuedAt: NOW });
    await sessions.endByLogout({ sid: null, subject: 'sub-1', issuedAt: NOW });
    await sessions.endByLogout({ sid: 'sid-1', subject: null, issuedAt: NOW });
    expect(told).toEqual([
      { sid: 'sid-1', subject: 'sub-1', endedAt: at(NOW) },
      { sid: '', subject: 'sub-1', endedAt: at(NOW) },
      { sid: 'sid-1', subject: '', endedAt: at(NOW) },
    ]);
  });
});
