import { SignJWT } from 'jose';
import { ALGORITHM, audienceOf, keysOf, provenClaims, type SigningSecrets } from './tokens';

/** Content of a ticket: a few texts. */
type TicketContent = Readonly<Record<string, string>>;

interface TicketOptions extends SigningSecrets {
  /** Tickets of another purpose are invalid. */
  readonly purpose: string;
  readonly lifeSeconds: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Signed notes that a browser carries from one step of a process to the next, so that any process of the service can answer the next step.
 */
export interface Tickets {
  /** The signed note. It is not encrypted. */
  issue(content: TicketContent): Promise<string>;
  /** Undefined for anything but a valid ticket of this purpose. A ticket can be used several times. */
  read(ticket: string): Promise<TicketContent | undefined>;
}

/** Tickets of one purpose. They are not session tokens, since their audience differs. */
export const createTickets = ({ purpose, lifeSeconds, now, ...secrets }: TicketOptions): Tickets => {
  const keys = keysOf(secrets);
  const [signing = new Uint8Array()] = keys;
  const audience = audienceOf(purpose);
  return {
    issue: (content) =>
      new SignJWT({ say: content })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setAudience(audience)
        .setExpirationTime(Math.floor(now() / 1_000) + lifeSeconds)
        .sign(signing),
    read: async (ticket) => {
      const claims = await provenClaims(ticket, { keys, audience, requiredClaims: ['exp', 'say'], now: now() });
      return claims?.['say'] as TicketContent | undefined; // what was issued
    },
  };
};
