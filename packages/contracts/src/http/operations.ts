import { listAudit } from './access/audit';
import { contextOperations } from './contexts/context-operations';
import { decisionOperations } from './decisions';
import { flowTestOperations } from './flows/flow-test-operations';
import { flowVersionOperations } from './flows/flow-versions';
import { flowOperations } from './flows/flow-operations';
import { checkRequest, getPassthroughClaims, provisionSso } from './people/person-operations';
import { getBranding } from './people/branding';
import {
  createResetLink,
  removeSecondFactor,
  listSessions,
  listSignIns,
  revokeSession,
  revokeUserSessions,
} from './people/session-operations';
import { getSsoMapping, saveSsoMapping } from './people/sso-mapping';
import { folderOperations } from './folders';
import { instanceOperations } from './contexts/instance-operations';
import { keyOperations } from './access/keys';
import { objectOperations } from './values/object-operations';
import { type Operation } from './operation';
import { listOperators } from './operator-operations';
import { releaseOperations } from './releases/release-operations';
import { roleOperations } from './access/roles';
import { ruleOperations } from './rules/rule-operations';
import { ruleTestOperations } from './rules/rule-test-operations';
import { scaleOperations } from './scale';
import { solveOperations } from './solve-operations';
import { systemOperations } from './system';
import { getUsage } from './access/usage';
import { userOperations } from './access/user-operations';
import { valueOperations } from './values/value-operations';

/** Every call of the API, in the order of the document. */
export const operations: readonly Operation[] = [
  ...solveOperations,
  ...scaleOperations,
  ...ruleOperations,
  listOperators,
  ...ruleTestOperations,
  ...flowOperations,
  ...flowVersionOperations,
  ...flowTestOperations,
  ...releaseOperations,
  ...objectOperations,
  ...valueOperations,
  ...contextOperations,
  ...instanceOperations,
  ...decisionOperations,
  ...keyOperations,
  ...folderOperations,
  ...userOperations,
  ...roleOperations,
  getUsage,
  listAudit,
  getSsoMapping,
  saveSsoMapping,
  listSessions,
  revokeSession,
  revokeUserSessions,
  createResetLink,
  removeSecondFactor,
  listSignIns,
  getBranding,
  getPassthroughClaims,
  provisionSso,
  checkRequest,
  ...systemOperations,
];
