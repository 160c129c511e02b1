import type { AuditWrite } from './audit-log.ts'
import { kvup } from './kvup.ts'
import type { Lab } from './lab.ts'

const user = 'system:serviceaccount:default:onlooker'
const admin = JSON.stringify({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'onlooker' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: 'onlooker', namespace: 'default' }],
})

export interface Watched {
  code: number
  stdout: string
  stderr: string
  /** What it changed. */
  writes: readonly AuditWrite[]
  /** What it asked the API server to try and keep nothing of. */
  dryRunSteps: readonly AuditWrite[]
}

/**
 * Runs kvup as a cluster admin whom nobody else is: who may write anything, and whose every request in the audit log is kvup's,
 * whatever it calls itself there.
 */
export async function onlooker(lab: Lab): Promise<(args: readonly string[]) => Promise<Watched>> {
  const kubeconfig = await lab.serviceAccountKubeconfig('onlooker', admin)
  return async (args) => {
    const since = new Date()
    const { code, stdout, stderr } = await kvup(lab, args, { kubeconfig })
    return {
      code,
      stdout,
      stderr,
      writes: await lab.auditWrites({ user, since }),
      dryRunSteps: await lab.auditWrites({ user, since, dryRunSteps: true }),
    }
  }
}
