/*
 * gains.h - what could be won: how a run divides as a whole, what it would take if a line took
 * less, and which one thing it mostly spends its time on.
 */
#ifndef FAH_MODEL_GAINS_H
#define FAH_MODEL_GAINS_H

#include "model/profile.h"

/* All of the run's time, seen from a scope: seconds of wall_s. What is left is rounding. */
struct fah_parts {
	double inside;	  /* functions of the scope, waiting included */
	double outside;	  /* code with no caller inside */
	double no_python; /* in no Python frame, seen or not: the interpreter's start and end,
			     threads and children without Python */
	double no_core;	  /* nobody ran for want of a core */
	double unknown;	  /* nobody ran, and where the main thread waited is not known */
	double unsampled; /* threads that no sample stands for */
};
void fah_profile_parts(const struct fah_profile *p, const struct fah_charges *charges,
		       struct fah_parts *ret);

/* A line, and the run if it took no time, or half of what it takes (Amdahl). */
struct fah_gain {
	const struct fah_file_cost *file;
	const struct fah_line_cost *line;
	double share, interval;	  /* of wall_s; half width of its 95 % interval */
	double without_s, half_s; /* what the run would take */
	double without_x,
		half_x; /* how many times as fast it would be; without_x may be INFINITY */
};
struct fah_gains {
	struct fah_gain *lines; /* dearest first */
	size_t n;
};
/* Of the most lines with at least floor (0..1) of the run. *ret belongs to the profile. */
int fah_profile_gains(struct fah_profile *p, const struct fah_charges *charges, size_t most,
		      double floor, const struct fah_gains **ret);

enum fah_bottleneck_kind {
	FAH_BOTTLENECK_NONE, /* nothing was seen */
	FAH_BOTTLENECK_FUNCTION,
	FAH_BOTTLENECK_SPREAD, /* the dearest function has less than a tenth */
	FAH_BOTTLENECK_OUTSIDE,
	FAH_BOTTLENECK_NO_PYTHON,
	FAH_BOTTLENECK_NO_CORE, /* wanted in more of the run than the dearest function has */
	FAH_BOTTLENECK_UNKNOWN,
};

enum fah_doing { FAH_DOING_PYTHON, FAH_DOING_NATIVE, FAH_DOING_SYSTEM, FAH_DOING_WAITING };

struct fah_bottleneck {
	enum fah_bottleneck_kind kind;
	double share;				  /* of the run */
	const struct fah_function_cost *function; /* the dearest, whatever the kind; NULL: none */
	enum fah_doing doing;			  /* what it mostly does, */
	double doing_share;			  /* and how much of its own time that is */
	uint32_t reason;			  /* enum fah_wait, where it mostly waits */
	const struct fah_line_cost *line;	  /* its dearest; NULL: not known */
	double line_share;			  /* of the run */
	/* The next dearest function where the samples do not tell which of the two has more; NULL.
	 */
	const struct fah_function_cost *rival;
};
void fah_profile_bottleneck(const struct fah_profile *p, const struct fah_charges *charges,
			    struct fah_bottleneck *ret);

#endif
