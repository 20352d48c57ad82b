import { Component, type ComponentChildren } from "preact";

interface PositionBoundaryProps {
  /** The position that is shown. */
  readonly position: object | null;
  readonly children: ComponentChildren;
}

interface State {
  /** The last position that could not be shown. */
  readonly failed: object | null;
}

/** Shows a text instead of a position that a board cannot show, for example because the view of a referee is wrong. The next position is shown again. */
export class PositionBoundary extends Component<PositionBoundaryProps, State> {
  override state: State = { failed: null };

  override componentDidCatch(): void {
    this.setState({ failed: this.props.position });
  }

  override render() {
    const { position, children } = this.props;
    const isFailed = position !== null && this.state.failed === position;
    return isFailed ? <p>The position cannot be shown.</p> : children;
  }
}
