/** User ids that every service accepts, by their special feature. */
export const GOOD_USER_IDS: readonly (readonly [name: string, userId: string])[] = [
  ['of 255 characters', 'u'.repeat(255)],
  ['with spaces and punctuation', 'auth0|5f7c 8a/b#c%d'],
  ['outside ASCII', 'zoë-李-😀'],
];

/** Texts that no service accepts as a user id, by their defect. */
export const BAD_USER_IDS: readonly (readonly [name: string, userId: string])[] = [
  ['empty', ''],
  ['of 256 characters', 'u'.repeat(256)],
  ['with NUL', 'ada\0'],
  ['with a line break', 'ada\n'],
  ['with DEL', 'ada\u007f'],
  ['with a control character of Latin-1', 'ada\u0085'],
];

/** Half of a surrogate pair. It can be sent in a JWT but not in a protobuf message. */
export const LONE_SURROGATE = 'ada\ud800';
