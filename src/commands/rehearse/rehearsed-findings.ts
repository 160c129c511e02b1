import type { Context } from '../../context.ts'
import { type Finding, passGate } from '../../lib/checks/check-definition.ts'
import { asReported, type ReportedCheck, type ReportedFinding } from '../../lib/checks/check-run.ts'
import { exitCode, KvupError } from '../../lib/kube/errors.ts'
import type { ReadCluster } from '../../lib/kubevirt/snapshot.ts'
import type { AcceptedRisk } from '../../lib/releases/hop-findings.ts'
import { checkDocument } from '../check/check.ts'
import { unlessUnseen } from '../check/plan-findings.ts'
import { acceptingLine } from '../run-change.ts'
import { explainingLine, type RehearsedUpgrade, type UpgradeFlags, upgradeLine } from './rehearsed-upgrade.ts'

/** What speaks against an upgrade in the cluster itself: the twin does not have all of it. */
export interface JudgedUpgrade {
  findings: readonly ReportedFinding[]
  /** What the upgrade is refused with there. */
  refusal?: KvupError
}

interface Asked {
  read: ReadCluster
  upgrade: RehearsedUpgrade
  options: UpgradeFlags & { from?: string }
}

/** Looks at the cluster as `kvup check` does. Throws `usage` for a risk that there is not, and what reading throws. */
export async function judgeUpgrade(cx: Context, asked: Asked): Promise<JudgedUpgrade> {
  const { upgrade } = asked
  try {
    const found = await ofCheck(cx, asked)
    const refusal = refusalOf(found, upgrade)
    return { findings: asReported(found.findings, found.accepted), ...(refusal && { refusal }) }
  } catch (error) {
    if (!(error instanceof KvupError) || error.exitCode !== exitCode.blocked) throw error
    return { findings: [], refusal: error }
  }
}

interface Found {
  findings: readonly Finding[]
  accepted: readonly AcceptedRisk[]
  /** Those that say something of whoever looks, and nothing of the upgrade. */
  ofUser: ReadonlySet<Finding>
}

/** About the first step: what stands in the way of later ones shows on the twin. Nobody is asked whether a token may be sent to the monitoring. */
async function ofCheck(cx: Context, { read, upgrade, options }: Asked): Promise<Found> {
  const quiet: Context = {
    ...cx,
    prompt: { confirm: async () => false },
    world: { ...cx.world, commandLine: explainingLine(upgrade, options) },
  }
  const { method, accept } = options
  // Between two steps VM updates resume whatever is asked for the end.
  const leavePaused = options.leavePaused === true && upgrade.first === upgrade.to
  const asked = { to: upgrade.first, method, accept, leavePaused }
  const { items, accepted } = await checkDocument(quiet, asked, async () => read)
  const rights = items.filter(({ id }) => id === 'rights').flatMap(({ findings }) => findings)
  return { findings: items.flatMap(asChecked), accepted, ofUser: new Set(rights) }
}

/** What a check that was not made says is not checked, whatever it weighs. */
const asChecked = ({ is, findings }: ReportedCheck): readonly Finding[] =>
  is === 'not-checked' ? findings.map((finding) => ({ ...finding, level: 'not-checked' as const })) : findings

/** As `kvup upgrade` is refused: what else could not be looked at stops `kvup check`, and no upgrade. */
function refusalOf({ findings, accepted, ofUser }: Found, upgrade: RehearsedUpgrade): KvupError | undefined {
  const ofUpgrade = findings.filter((finding) => !ofUser.has(finding)).map(unlessUnseen)
  try {
    passGate(ofUpgrade, accepted, acceptingLine(upgradeLine(upgrade), accepted))
    return undefined
  } catch (error) {
    if (error instanceof KvupError) return error
    throw error
  }
}
