import { SignJWT } from 'jose';
import { ALGORITHM, audienceOf, keysOf, provenClaims, type SigningSecrets } from './tokens';

/** What a ticket says: a few texts. */
type TicketContent = Readonly<Record<string, string>>;

interface TicketOptions extends SigningSecrets {
  /** Tickets of another purpose count for nothing. */
  readonly purpose: string;
  readonly lifeSeconds: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Notes that a browser carries from one step of something to the next, so that any process can answer the next step. */
export interface Tickets {
  /** The note, signed. Whoever has it can read it. */
  issue(content: TicketContent): Promise<string>;
  /** Undefined for whatever is not a ticket of this purpose that is still good. It can be shown several times. */
  read(ticket: string): Promise<TicketContent | undefined>;
}

/** Tickets of one purpose. They are no session tokens: their audience is another one. */
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
