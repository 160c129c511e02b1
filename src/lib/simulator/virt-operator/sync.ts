import { Deployments } from '../../cluster/kinds/apps.ts'
import { escalationText, missingRightText } from './escalation.ts'
import { ensure } from './managed.ts'
import { extraComponents, syncOperands } from './operands.ts'
import { DeploymentFailure, type OperatorContext, type Pass } from './operator-context.ts'
import { supportObjects } from './support-objects.ts'
import { isOlderMinor } from './version-order.ts'

/** Brings everything to the configuration, as far as it goes in one pass; true when all of it is there and through. */
export async function sync(cx: OperatorContext, pass: Pass): Promise<boolean> {
  const { definitions, others } = supportObjects(pass.config)
  if (cx.faults.on.withoutRights === true)
    throw new DeploymentFailure(missingRightText(pass.config.namespace))
  for (const managed of definitions) await ensure(cx, pass, managed)
  if (isOlderMinor(cx.self.version, pass.config.kubeVirtVersion)) {
    throw new DeploymentFailure(escalationText(pass.config.namespace))
  }
  for (const managed of others) await ensure(cx, pass, managed)
  if (!(await syncOperands(cx, pass))) return false
  return !(await removeForeign(cx, pass))
}

/** Deployments that the operator once made and this strategy does not have. */
async function removeForeign(cx: OperatorContext, pass: Pass): Promise<boolean> {
  const wanted = new Set(['virt-api', 'virt-controller', ...extraComponents(cx, pass)])
  const labels = 'app.kubernetes.io/managed-by=virt-operator'
  const there = await cx.reader.list(Deployments, { namespace: pass.config.namespace, labels })
  const foreign = there.filter(({ metadata }) => !wanted.has(metadata.name))
  for (const { metadata } of foreign) await cx.writer.delete(Deployments, metadata)
  return foreign.length > 0
}
