import { valueAt } from '../../cluster/apply/field-path.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { HopFinding } from '../../releases/finding.ts'
import { versionOf } from '../../releases/version.ts'

const gateName = 'LiveMigration'

/**
 * What stands against LiveMigrate among these methods: before v0.56 nothing migrates without its gate; since then it is always on
 * (kubevirt pull request 8047, night W7). Pure.
 */
export function gateFinding(kubevirt: KubeVirt, methods: readonly string[]): readonly HopFinding[] {
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)
  const needsIt = version !== undefined && version.major === 0 && version.minor < 56
  if (!needsIt || !methods.includes('LiveMigrate') || isOn(kubevirt)) return []
  return [
    {
      id: 'live-migration-gate',
      level: 'blocker',
      summary: `KubeVirt ${version.text} migrates nothing without the feature gate ${gateName}, which is not on`,
      objects: [`kubevirt/${kubevirt.metadata.name}`],
      remedy: [`add ${gateName} to spec.configuration.developerConfiguration.featureGates first`],
    },
  ]
}

function isOn({ spec }: KubeVirt): boolean {
  const developer = spec?.configuration?.['developerConfiguration']
  const gates = valueAt(developer, ['featureGates'])
  return Array.isArray(gates) && gates.includes(gateName)
}
