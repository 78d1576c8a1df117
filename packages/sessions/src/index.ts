export {
  clearedCookie,
  cookieTokenOf,
  requireSameSite,
  SESSION_HEADER,
  sessionCookie,
  sessionTokenOf,
} from './carriers';
export { createTickets, type Tickets } from './tickets';
export { createSessionTokens, type SessionTokens } from './tokens';
export { createSessionVerifier, type SessionFacts, type SessionVerifier } from './verifier';
