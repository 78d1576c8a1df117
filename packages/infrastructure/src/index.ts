export { accessOf } from './access-of';
export { createNotificationStore } from './notification-store';
export { openMailer } from './open-mailer';
export { openBroker, openRequester, openResponder } from './open-broker';
export { openDecisionLog, openDecisions } from './open-decisions';
export { openEvaluationThreads } from './open-evaluation-threads';
export { authenticatePeople, openSessions } from './open-sessions';
export { findShownInvitation } from './shown-invitation';
export { openAuthenticator, openStores, openStoreUnasked } from './open-stores';
