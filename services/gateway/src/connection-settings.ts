import { durationMs, integer } from '@phds/service-kit/settings/config';

/** What a connection and its requests may take of the gateway. */
export const connectionSettings = {
  MAX_BODY_BYTES: integer(64 * 1024, { min: 1, unit: 'bytes' }).describe('Maximum size of a request body.'),
  MAX_URL_BYTES: integer(8 * 1024, { min: 256, unit: 'bytes' }).describe(
    'Maximum length of a request target.',
  ),
  MAX_HEADER_BYTES: integer(16 * 1024, { min: 4 * 1024, unit: 'bytes' }).describe(
    'Maximum size of the header of a request.',
  ),
  STALLED_CONNECTION_MS: durationMs(30_000).describe(
    'A connection without a byte in either direction for this long during a request is closed.',
  ),
  MIN_READ_BYTES_PER_SECOND: integer(4_096, { min: 1, unit: 'bytes a second' }).describe(
    'A client that reads its answers more slowly, on average, is disconnected after `STALLED_CONNECTION_MS` and the time that the answers take at this pace.',
  ),
  MAX_CONNECTIONS: integer(2_000, { min: 1, unit: 'connections' }).describe(
    'Maximum number of connections to the public port; further ones are closed at once. More than the load balancer opens to one gateway.',
  ),
} as const;
