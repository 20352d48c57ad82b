import fc from "fast-check";

// A property that fails under a change is not reduced to a small example, which takes seconds or minutes for each change.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
