import type { Person } from '../person.ts';
import { NO_HISTORY } from '../person.ts';
import { ADA } from './ada.ts';
import { GRACE } from './grace.ts';
import { HEAVY } from './heavy.ts';
import { TRAVELLER } from './traveller.ts';

/** Two categories and one condition, all entered by hand. */
export const SPARSE: Person = {
  id: 'sparse',
  profile: { name: 'Sam Reed', gender: 'other' },
  timeZone: 'Asia/Tokyo',
  trips: [],
  days: 10,
  life: null,
  entries: [
    { type: 'Heart Rate', hoursAgo: 218, value: 81 },
    { type: 'Heart Rate', hoursAgo: 75, value: 68 },
    { type: 'Heart Rate', hoursAgo: 2, value: 74 },
    { type: 'Weight', hoursAgo: 200, value: 71.9 },
    { type: 'Weight', hoursAgo: 30, value: 71.4 },
  ],
  history: {
    ...NO_HISTORY,
    conditions: [{ name: 'Hay fever', severity: '', sinceDate: '2012', source: 'manual' }],
  },
};

/** No data, not even a profile. */
export const EMPTY: Person = {
  id: 'empty',
  profile: null,
  timeZone: 'UTC',
  trips: [],
  days: 1,
  life: null,
  entries: [],
  history: NO_HISTORY,
};

export const PEOPLE: readonly Person[] = [ADA, GRACE, SPARSE, EMPTY, TRAVELLER, HEAVY];

/** The person with this name; null if there is none. */
export function findPerson(id: string): Person | null {
  return PEOPLE.find((person) => person.id === id) ?? null;
}
