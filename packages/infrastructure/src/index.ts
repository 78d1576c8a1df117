export { accessOf } from './access-of';
export { createNotificationStore } from './notification-store';
export { openBroker, openRequester, openResponder } from './open-broker';
export { openDecisionLog, openDecisions } from './open-decisions';
export { openEvaluationThreads } from './open-evaluation-threads';
export { authenticatePeople, openSessions } from './open-sessions';
export { openAuthenticator, openStores, openStoreUnasked } from './open-stores';
