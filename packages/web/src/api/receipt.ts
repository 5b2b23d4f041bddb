import type { SignedReceipt } from './resources.ts';

const SECOND_MS = 1_000;

/** The content of a receipt (ISO/IEC TS 27560:2023). Texts are those that the person was shown. */
export interface Receipt {
  readonly record_id: string;
  readonly pii_principal_id: string;
  /** When it was signed, in Unix seconds. */
  readonly iat: number;
  /** One for each approval, oldest first. */
  readonly purposes: readonly {
    /** What the app said it needs the data for. */
    readonly purpose: string | null;
    /** BCP 47. */
    readonly language: string;
    /** The app as the person was shown it. */
    readonly recipient: {
      readonly party_name: string;
      readonly party_developer: string | null;
      readonly party_description: string | null;
      readonly party_url: string | null;
      readonly privacy_notice: string | null;
      readonly redirect_host: string;
    };
    readonly pii_information: readonly {
      readonly pii_type: string;
      readonly pii_title: string;
      readonly pii_description: string;
    }[];
  }[];
  /** Everything that happened, oldest first. The approvals among them have the order of `purposes`. */
  readonly events: readonly ReceiptEvent[];
}

export interface ReceiptEvent {
  readonly event_time: string;
  /**
   * `given`, `narrowed`, `withdrawn`, `expired`, `ended by the app`, `ended by an operator of the service`, `terminated`,
   * `deletion requested`; later releases may add others.
   */
  readonly event_state: string;
  /** ISO 8601 duration in seconds from `event_time`; null if the event is not about terms. */
  readonly validity_duration: string | null;
  /** The scopes after the event. */
  readonly pii_types: readonly string[];
  /** YYYY-MM-DD; null for no limit. */
  readonly pii_since: string | null;
}

/** Decodes a receipt without checking its signature: it comes from the service itself. Throws if it is not a JWS. */
export function decodeReceipt({ receipt }: SignedReceipt): Receipt {
  const [, payload = ''] = receipt.split('.');
  const binary = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Receipt;
}

export type ReceiptApproval = ReturnType<typeof approvalsOf>[number];

/** The approvals, oldest first, each with its terms and what was shown. */
export function approvalsOf({ purposes, events }: Receipt) {
  const given = events.filter(({ event_state }) => event_state === 'given');
  return given.flatMap((event, index) => {
    const shown = purposes[index];
    return shown === undefined ? [] : [{ event, shown }];
  });
}

/** The end of sharing after an event (Unix milliseconds); null if the event is not about an end. Durations are in whole seconds. */
export function endOf({ event_time, validity_duration }: ReceiptEvent): number | null {
  const [, seconds] = /^PT(\d+)S$/.exec(validity_duration ?? '') ?? [];
  if (seconds === undefined) return null;
  return Math.round(Date.parse(event_time) / SECOND_MS + Number(seconds)) * SECOND_MS;
}
