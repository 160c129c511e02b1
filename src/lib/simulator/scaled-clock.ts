import type { Clock } from '../system/clock.ts'

/** The wall clock, `speed` times as fast: an update of a minute is watched in six seconds at 10. */
export function scaledClock(wall: Clock, speed: number): Clock {
  const start = wall.now().getTime()
  return {
    now: () => new Date(start + (wall.now().getTime() - start) * speed),
    sleep: (ms, signal) => wall.sleep(ms / speed, signal),
  }
}
