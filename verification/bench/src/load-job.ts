import type { JsonWebKeyInput } from 'node:crypto';
import type { Arrivals, Latencies } from '@phds/guarantees/load/arrivals';

/** As many reads as a number of connections can: each sends its next when it has an answer. */
export interface ReadJob {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** File with one request a line: a path, and optionally a space and a bearer token. */
  readonly requestsFile: string;
  /** A private EC key, to which the tokens are bound. */
  readonly proofKey?: JsonWebKeyInput['key'];
}

/** Reads at a constant rate, spread over gateways. */
export interface SteadyJob extends Arrivals {
  readonly gateways: readonly string[];
  /** As in a `ReadJob`. */
  readonly requestsFile: string;
}

/** The measured requests of tokens: the grant types of the token endpoint, and introspection. */
export const TOKEN_REQUESTS = ['client-credentials', 'refresh', 'code', 'introspection'] as const;

export type TokenRequest = (typeof TOKEN_REQUESTS)[number];

/** As many requests of one kind as a number of connections can. */
export interface TokenJob {
  readonly request: TokenRequest;
  readonly tokenUrl: string;
  readonly introspectionUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly connections: number;
  readonly seconds: number;
  /**
   * Unused codes: those that are exchanged, or those that the tokens come from that are refreshed or introspected. A stretch of
   * exchanges ends early when none is left.
   */
  readonly codes: readonly string[];
}

/** One stretch of load on one server. */
export type LoadJob = ReadJob | SteadyJob | TokenJob;

/** Latencies of a `SteadyJob` count from the scheduled moment. */
export interface LoadResult extends Latencies {
  /** Requests with the expected answer. */
  readonly requests: number;
  readonly perSecond: number;
  /** Other answers, and connection errors. A benchmark with failures is void. The load program logs them. */
  readonly failures: number;
}
